from .guest import GuestError, Options, Report, backend, rewrite
