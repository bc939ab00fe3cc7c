"""The process engine and what every service of the deployment stands on."""
