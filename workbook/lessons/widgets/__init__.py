"""Controls for a notebook that is running. The only place that imports ipywidgets and anywidget."""
