"""Records: results that travel with the project, and the verifications that say for which code they hold."""
