import{a}from"./chunk-VZDMSQTI.js";import"./chunk-EZXPFANW.js";import"./chunk-LLG67272.js";import"./chunk-TAGYSIAM.js";export{a as reader};
