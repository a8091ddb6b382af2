import{a}from"./chunk-WHGVIJFC.js";import"./chunk-U3H3PIOX.js";import"./chunk-GHEQBTKR.js";import"./chunk-SD4AI45L.js";export{a as reader};
