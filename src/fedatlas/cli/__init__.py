"""The command line: the command fedatlas and its subcommands."""
