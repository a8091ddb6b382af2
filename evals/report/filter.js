// Shows the questions that fit the choices made; without scripts all stay in sight.
for (const form of document.querySelectorAll("form[data-filters]")) {
  const list = document.getElementById(form.dataset.filters);
  const cards = [...list.querySelectorAll("[data-card]")];
  const shown = form.querySelector("output");
  const choose = () => {
    const words = form.elements.words.value.trim().toLowerCase();
    const chosen = [...form.querySelectorAll("select")].filter((select) => select.value);
    let count = 0;
    for (const card of cards) {
      const fits = chosen.every((select) => card.dataset[select.name].split("\n").includes(select.value));
      card.hidden = !fits || (words && !card.textContent.toLowerCase().includes(words));
      count += card.hidden ? 0 : 1;
    }
    for (const group of list.querySelectorAll("[data-group]")) {
      group.hidden = !group.querySelector("[data-card]:not([hidden])");
      for (const rest of group.querySelectorAll("details.more")) rest.open = chosen.length > 0 || words !== "";
    }
    shown.value = `${count} of ${cards.length}`;
  };
  form.addEventListener("input", choose);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  choose();
}
