// Browsers let no page of a folder read the index of the search: say so in the search field.
if (location.protocol === "file:") {
  const field = document.querySelector(".md-search__input");
  field.placeholder = "No search in files";
  field.title = "Search needs a server: python -m http.server --directory build/site";
  field.disabled = true;
}
