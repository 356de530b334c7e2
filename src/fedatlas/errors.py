"""The one exception a user's mistake raises: a sentence that says what, where and what to do."""


class UserError(ValueError):
    """A mistake of the user's or a missing file. The command line prints it without a traceback and exits with 2."""
