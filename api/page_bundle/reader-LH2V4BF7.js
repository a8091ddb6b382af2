import{a}from"./chunk-EENUSYUH.js";import"./chunk-RBPC2GES.js";import"./chunk-IBJETPFQ.js";import"./chunk-P7I5EP4Q.js";export{a as reader};
