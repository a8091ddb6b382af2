import{a}from"./chunk-PXWL6XWK.js";import"./chunk-ACNDUB2L.js";import"./chunk-4N44B3ZK.js";import"./chunk-HGCRPXGU.js";import"./chunk-I5DGBFW6.js";import"./chunk-2XDXAGF2.js";export{a as reader};
