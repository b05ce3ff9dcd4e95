// Browsers let no page of a folder read the index of the search: say so in the search field.
if (location.protocol === "file:") {
  const field = document.querySelector(".md-search__input");
  field.placeholder = "Search needs: python -m http.server";
  field.disabled = true;
}
