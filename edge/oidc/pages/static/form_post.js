"use strict";

document.getElementById("form-post").submit();
