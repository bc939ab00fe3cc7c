#!/bin/sh
# assemble.sh FOLDER, run in node_modules: write the script and the stylesheet of each editor, and the licences.
set -eu

folder=$1
mkdir -p "$folder"

# Prints files of a folder, named without the ending.
styles() {
  from=$1
  shift
  for name in "$@"; do cat "$from/$name.css"; done
}

cp camunda-bpmn-js/dist/camunda-cloud-modeler.production.min.js "$folder/bpmn-editor.js"
cp camunda-dmn-js/dist/camunda-cloud-modeler.production.min.js "$folder/dmn-editor.js"
cp @bpmn-io/form-js/dist/form-editor.umd.js "$folder/form-editor.js"
styles camunda-bpmn-js/dist/assets diagram-js bpmn-js bpmn-font/css/bpmn-embedded properties-panel color-picker \
  element-templates element-template-chooser popup-menu > "$folder/bpmn-editor.css"
styles camunda-dmn-js/dist/assets diagram-js dmn-font/css/dmn-embedded dmn-js-decision-table-controls \
  dmn-js-decision-table dmn-js-drd dmn-js-literal-expression dmn-js-boxed-expression-controls dmn-js-boxed-expression \
  dmn-js-shared properties-panel overview > "$folder/dmn-editor.css"
styles @bpmn-io/form-js/dist/assets form-js form-js-editor properties-panel > "$folder/form-editor.css"
cat camunda-bpmn-js/LICENSE camunda-dmn-js/LICENSE @bpmn-io/form-js/LICENSE > "$folder/LICENSE"
