// Adds the CSRF token to forms on submission where no field has it, so that the token is in no attribute.
"use strict";

const { csrf_token } = JSON.parse(document.getElementById("auth-state").textContent);

for (const form of document.forms) {
  form.addEventListener("formdata", ({ formData }) => formData.set("csrf_token", csrf_token));
}
