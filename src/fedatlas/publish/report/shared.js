"use strict";
// What charts of figures and the guide share.
const shared = (() => {
  async function unpacked(node) {
    const bytes = Uint8Array.from(atob(node.textContent.trim()), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  // Chart.js, once.
  let library = null;
  function loaded() {
    library ??= unpacked(document.getElementById("library")).then((code) => {
      const script = document.createElement("script");
      script.textContent = code;
      document.head.append(script);
    });
    return library;
  }

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const raised = (power) => [...String(power)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("");

  return { unpacked, loaded, element, raised };
})();
