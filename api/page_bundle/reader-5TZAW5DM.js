import{a}from"./chunk-X27SPNHP.js";import"./chunk-FSF6OYP6.js";import"./chunk-VTGFWLZR.js";import"./chunk-QN7EXWGE.js";export{a as reader};
