"""The pages' parts: tags, partials, the frame, the stylesheets."""
