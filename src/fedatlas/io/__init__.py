"""Files and the machine: formats that the package reads and writes, terminals, memory and disk."""
