"""What theorems and closed forms say of problems and runs."""
