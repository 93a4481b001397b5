VERIFY $target QUASI IDENTIFIERS (age USING age, zip USING zip, sex) SATISFYING k_anonymity(5);
