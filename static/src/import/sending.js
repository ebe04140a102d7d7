// One file to the server: what the form says, the bytes, and how far they are.

const FILES = ["files", "pasted", "widen", "password"];

/** An id for a request that may be sent again; also where the page is not a secure context. */
export function newRequestId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The form's fields with what one line of the list says instead. */
export function body(form, item, own) {
  const data = new FormData(form);
  const widen = data.get("widen");
  for (const name of FILES) data.delete(name);
  if (widen) data.set("widen", widen);
  for (const [name, value] of Object.entries(own)) data.set(name, value);
  data.set("row", String(item.number));
  data.set("name", item.name);
  data.set("request_id", item.requestId);
  if (item.file) data.append("files", item.file, item.name);
  else data.set("pasted", item.text);
  return data;
}

/** Send it; resolves with the answer, rejects when there was none or it was stopped. */
export function send(form, data, { onProgress, onStart }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("HX-Request", "true");
    request.setRequestHeader("X-CSRFToken", data.get("csrfmiddlewaretoken"));
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener("load", () => resolve(request));
    for (const name of ["error", "abort", "timeout"]) request.addEventListener(name, () => reject(new Error(name)));
    onStart(request);
    request.send(data);
  });
}
