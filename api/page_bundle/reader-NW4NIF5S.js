import{a}from"./chunk-4BNSH4QC.js";import"./chunk-E7NPWXE3.js";import"./chunk-EOBTEXNG.js";import"./chunk-KX6FLJDL.js";export{a as reader};
