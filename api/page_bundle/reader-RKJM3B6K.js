import{a}from"./chunk-5JDSR4P4.js";import"./chunk-5T4BLXRP.js";import"./chunk-3TIXHS4W.js";import"./chunk-QT5AXWD2.js";export{a as reader};
