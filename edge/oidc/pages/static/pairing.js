// Pairs forms with the page where no field does it: the token goes with what is sent, and stands in no attribute.
"use strict";

const { csrf_token } = JSON.parse(document.getElementById("auth-state").textContent);

for (const form of document.forms) {
  form.addEventListener("formdata", ({ formData }) => formData.set("csrf_token", csrf_token));
}
