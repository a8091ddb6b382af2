import{a}from"./chunk-2NBYGYOO.js";import"./chunk-XS33ZIR3.js";import"./chunk-4N44B3ZK.js";import"./chunk-X3Y5P5JJ.js";import"./chunk-YQHZJT2X.js";import"./chunk-WOT6VMZA.js";export{a as reader};
