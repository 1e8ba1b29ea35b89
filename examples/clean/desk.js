import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";

export function showNotice(notice) {
  document.querySelector("#notice").textContent = notice.text;
}

export async function notifyAll(parcels, send) {
  await Promise.all(
    parcels.map((parcel) => send(parcel.owner, `${parcel.id} has arrived`)),
  );
}

export function archive(request, response) {
  const month = Number.parseInt(request.query.month, 10);
  execFile("tar", ["czf", "archive.tgz", `parcels/${month}`], () => response.end());
}

export function newPickupToken() {
  return randomBytes(16).toString("hex");
}
