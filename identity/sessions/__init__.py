"""Sessions of browsers: begun before anybody signs in, made anew when somebody does."""
