import{a}from"./chunk-JO2L5B7I.js";import"./chunk-CZPXD6EZ.js";import"./chunk-XUWARW4W.js";import"./chunk-JWFH6TW3.js";export{a as reader};
