// The token of the address is exchanged for a cookie and leaves the address.
const parts = location.hash.slice(1).split("&").filter(Boolean);
const token = parts.filter((one) => one.startsWith("token=")).map((one) => one.slice(6))[0] || null;
const rest = parts.filter((one) => !one.startsWith("token=")).join("&");
const say = (text) => { document.getElementById("said").textContent = text; };

try {
  const answer = await fetch("/enter", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }),
  });
  if (answer.ok) {
    history.replaceState(null, "", `/${rest ? `#${rest}` : ""}`);
    location.reload();
  } else say("This page opens with the address that `linsep lab` prints in the terminal: copy it from there.");
} catch {
  say("The lab does not answer; is `linsep lab` still running?");
}
