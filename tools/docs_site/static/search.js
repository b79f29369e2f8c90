// Read by the search of Sphinx. Pages that match equally well are shown in the order in which they help most.
"use strict";

const WEIGHTS = [
  [/^(index|tutorial)$/, 4],
  [/^how-to\//, 3],
  [/^(reference\/|definitions$|expressions$|dialects$)/, 2],
  [/^(adr\/|performance$|contributing$)/, -2],
  [/^changelog$/, -4],
];

var Scorer = {
  score: ([docname, , , , score]) => score + (WEIGHTS.find(([pattern]) => pattern.test(docname)) ?? [null, 0])[1],
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

// An excerpt of each page is fetched from its file, which browsers refuse to do in a folder that nobody serves.
if (window.location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
