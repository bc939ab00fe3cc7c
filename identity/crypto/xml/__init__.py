"""XML of other parties: bounded documents, XML Signature 1.1 and XML Encryption 1.1."""
