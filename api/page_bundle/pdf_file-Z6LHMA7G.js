import{a,b}from"./chunk-IH3ESI7R.js";import"./chunk-2XDXAGF2.js";export{b as openPdf,a as prepare};
