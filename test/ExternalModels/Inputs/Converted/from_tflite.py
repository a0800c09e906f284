# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes tflite-tosa.mlir with the TOSA converter for TFLite, and what TFLite's
interpreter computes. See README.md for the versions."""

import json

import numpy as np
import tensorflow as tf
from tosa_converter_for_tflite import TosaConverterOutputFormat, tflite_flatbuffer_to_tosa_mlir

tf.keras.utils.set_random_seed(7)
layers = tf.keras.layers
network = tf.keras.Sequential(
    [
        tf.keras.Input((8, 8, 3), batch_size=2),
        layers.Conv2D(4, 3, activation="relu6", padding="same"),
        layers.MaxPooling2D(2),
        layers.DepthwiseConv2D(3, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(5, activation="softmax"),
    ]
)
flatbuffer = tf.lite.TFLiteConverter.from_keras_model(network).convert()
with open("network.tflite", "wb") as file:
    file.write(flatbuffer)
tflite_flatbuffer_to_tosa_mlir(
    "network.tflite", "tflite-tosa.mlir", TosaConverterOutputFormat.Text
)
interpreter = tf.lite.Interpreter(model_content=flatbuffer)
interpreter.allocate_tensors()
x = np.sin(np.arange(2 * 8 * 8 * 3) * 0.37).astype(np.float32).reshape(2, 8, 8, 3)
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
interpreter.invoke()
with open("tflite.json", "w") as file:
    json.dump(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).tolist(), file)
