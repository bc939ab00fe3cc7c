// Requests another confirmation link; the answer is the same for every address.
"use strict";

const SENT_AGAIN = _("If this address is waiting for confirmation, a new message is on its way. Links in earlier messages no longer work.");

async function sendAgain(address, action) {
  await send({ email: address, pow: await solution() }, action);
}

function explainedSending(refusal) {
  return refusal.status === 400 ? _("This is not an email address.") : explainedByDefault(refusal);
}
