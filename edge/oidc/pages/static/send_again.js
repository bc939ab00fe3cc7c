// Asks for another link to an address that waits to be confirmed; the answer is the same for every address.
"use strict";

const SENT_AGAIN = "If the address waits to be confirmed, a new message is on its way. The links in earlier ones are good no more.";

async function sendAgain(address, action) {
  await send({ email: address, pow: await solution() }, action);
}

function explainedSending(refusal) {
  return refusal.status === 400 ? "That is no e-mail address." : explainedByDefault(refusal);
}
