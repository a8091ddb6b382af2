import{a}from"./chunk-5VDP3NF6.js";import"./chunk-TGWUFYXN.js";import"./chunk-RBJ2J2SX.js";import"./chunk-BNTM5WDO.js";export{a as reader};
