// A slider shows one of the pictures that were drawn for its values.
for (const figure of document.querySelectorAll("figure.slider")) {
  const picture = figure.querySelector("img"), input = figure.querySelector("input"), said = figure.querySelector("output");
  const words = JSON.parse(figure.dataset.words);
  const address = (k) => `${figure.dataset.place}-${k}.png`;
  input.addEventListener("pointerdown", () => words.forEach((_, k) => { new Image().src = address(k); }), { once: true });
  input.addEventListener("input", () => {
    const k = Number(input.value);
    picture.src = address(k);
    picture.alt = said.textContent = words[k];
    input.setAttribute("aria-valuetext", words[k]);
  });
}
