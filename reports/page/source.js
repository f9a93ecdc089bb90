
// OpenCL C in colours, when it is first shown: text stays text, and only spans are added.
const words = /(\/\/.*|\/\*[^]*?\*\/)|(^#.*|__attribute__)|\b(if|else|for|while|do|return|const|static|inline|restrict|switch|case|break|__kernel|__global|__local|__constant|__private|__read_only|__write_only|__read_write)\b|\b(void|bool|(?:u?(?:char|short|int|long)|half|float|double)(?:2|3|4|8|16)?|size_t|sampler_t|image[123]d_(?:array_|buffer_)?t)\b/gm;
const kinds = [, "c", "d", "k", "t"];
const colour = code => {
  const text = code.textContent, parts = [];
  let end = 0;
  for (const found of text.matchAll(words)) {
    const span = document.createElement("span");
    span.className = kinds[found.findIndex((group, i) => i && group !== undefined)];
    span.textContent = found[0];
    parts.push(text.slice(end, found.index), span);
    end = found.index + found[0].length;
  }
  code.replaceChildren(...parts, text.slice(end));
};
for (const card of document.querySelectorAll("details.card")) {
  const show = () => {
    const code = card.querySelector("code.opencl:not(.coloured)");
    if (!card.open || !code) return;
    code.classList.add("coloured");
    colour(code);
  };
  card.addEventListener("toggle", show);
  show();
}
