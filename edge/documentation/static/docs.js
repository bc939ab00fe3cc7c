// Shows the OpenAPI document. Operations that people try use the access token that they enter, or the session of the
// console; a change in a session carries its CSRF token.
const READS = new Set(["GET", "HEAD"]);
const darkness = window.matchMedia("(prefers-color-scheme: dark)");

function adoptScheme() {
  document.documentElement.classList.toggle("dark-mode", darkness.matches);
}

function isNamed(headers, wanted) {
  return Object.keys(headers).some((name) => name.toLowerCase() === wanted);
}

async function withCsrfToken(request) {
  const isOurs = new URL(request.url, location.href).origin === location.origin;
  if (!isOurs || READS.has((request.method ?? "GET").toUpperCase()) || isNamed(request.headers ?? {}, "authorization")) {
    return request;
  }
  const session = await fetch("/auth/v1/oidc/sessioninfo/xsrf", { headers: { Accept: "application/json" } });
  if (session.ok) {
    request.headers = { ...request.headers, "X-CSRF-Token": (await session.json()).csrf_token };
  }
  return request;
}

adoptScheme();
darkness.addEventListener("change", adoptScheme);
window.viewer = SwaggerUIBundle({
  url: document.getElementById("document").dataset.address,
  dom_id: "#document",
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  requestInterceptor: withCsrfToken,
});
