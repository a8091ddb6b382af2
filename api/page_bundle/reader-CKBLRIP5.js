import{a}from"./chunk-73HDSHI2.js";import"./chunk-COJUBHOK.js";import"./chunk-LSAJE5WL.js";import"./chunk-37RXGOGO.js";export{a as reader};
