import{a}from"./chunk-GSUUF477.js";import"./chunk-OAJQUMXH.js";import"./chunk-EK7YQ2O7.js";import"./chunk-2NJWONJ4.js";export{a as reader};
