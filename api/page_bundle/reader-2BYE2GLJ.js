import{a}from"./chunk-SGG7KG2I.js";import"./chunk-MQP6242S.js";import"./chunk-OAGNLAAH.js";import"./chunk-KM6TCUV5.js";export{a as reader};
