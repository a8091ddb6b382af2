import{a}from"./chunk-BINUCCIK.js";import"./chunk-GLKAM7TZ.js";import"./chunk-GRE7Y3GW.js";import"./chunk-VKMFDZ4I.js";export{a as reader};
