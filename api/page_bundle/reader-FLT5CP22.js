import{a}from"./chunk-5BYW7OGC.js";import"./chunk-RSIUS7QP.js";import"./chunk-3IQRI6BL.js";import"./chunk-FB2WIPPS.js";export{a as reader};
