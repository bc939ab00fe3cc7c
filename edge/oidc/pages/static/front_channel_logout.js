"use strict";

const LONGEST_WAIT_MS = 5000;

function goOn() {
  location.replace(document.getElementById("way-on").href);
}

// The page has loaded when all that it embeds has.
window.addEventListener("load", goOn);
setTimeout(goOn, LONGEST_WAIT_MS);
