"""Pages of the console, one module each: a page reads documents of the API and renders a template."""
