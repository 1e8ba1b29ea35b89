import { exec } from "node:child_process";

export function showNotice(notice) {
  // Planted: a notice is shown as a page and not as text.
  document.querySelector("#notice").innerHTML = "<b>" + notice.text + "</b>";
}

export async function notifyAll(parcels, send) {
  // Planted: nobody waits for these, and their failures are lost.
  parcels.forEach(async (parcel) => {
    await send(parcel.owner, `${parcel.id} has arrived`);
  });
}

export function archive(request, response) {
  // Planted: the month of a request can carry a command.
  exec("tar czf archive.tgz parcels/" + request.query.month, () => response.end());
}

export function newPickupToken() {
  // Planted: the next token can be computed from a few others.
  const token = Math.random().toString(36).slice(2);
  return token;
}
