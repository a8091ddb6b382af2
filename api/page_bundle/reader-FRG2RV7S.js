import{a}from"./chunk-YY5FJMB3.js";import"./chunk-YGIMHFLE.js";import"./chunk-YJGLYGQZ.js";import"./chunk-PFL4CHRO.js";export{a as reader};
