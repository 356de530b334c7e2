"""Records: results that travel with the project, and the signatures that say for which code they hold."""
