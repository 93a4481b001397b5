//! The standard normal distribution.
//!
//! Reference: Wichura, Algorithm AS 241: the percentage points of the normal distribution, 1988,
//! doi:10.2307/2347330, PPND16.

/// A quotient of two polynomials.
struct Fraction {
    above: [f64; 8],
    below: [f64; 8],
}

impl Fraction {
    fn at(&self, x: f64) -> f64 {
        let polynomial = |factors: &[f64; 8]| factors.iter().fold(0.0, |sum, factor| sum * x + factor);
        polynomial(&self.above) / polynomial(&self.below)
    }
}

/// The coefficients for numbers near 0, from the highest power to the lowest.
const CENTRE: Fraction = Fraction {
    above: [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    below: [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
};
/// The coefficients for numbers between the centre and the tails, from the highest power to the
/// lowest.
const MIDDLE: Fraction = Fraction {
    above: [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    below: [
        1.050_750_071_644_416_9e-9,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
};
/// The coefficients for numbers far from 0, from the highest power to the lowest.
const TAIL: Fraction = Fraction {
    above: [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    below: [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
};

/// The maximum distance from 1/2 of a probability whose number is near 0.
const NEAR: f64 = 0.425;

/// The number of probabilities that are replaced at a time.
const BLOCK: usize = 256;

/// Replaces each probability, which is between 0 and 1/2, by the number below which a random number
/// of the standard normal distribution is with this probability. The relative error is about 1e-16.
///
/// About 85 percent of all probabilities belong to numbers near 0. The compiler vectorizes their
/// formula, which therefore replaces all probabilities of a block. Then the others are replaced,
/// one by one.
pub(super) fn replace_by_quantiles(numbers: &mut [f64]) {
    for numbers in numbers.chunks_mut(BLOCK) {
        let (mut outside, mut count) = ([(0, 0.0); BLOCK], 0);
        for (place, below) in numbers.iter().enumerate() {
            // An entry that is not counted is replaced by the next one. A branch would often be
            // predicted wrongly.
            outside[count] = (place, *below);
            count += usize::from(0.5 - *below > NEAR);
        }
        for number in &mut *numbers {
            let distance = 0.5 - *number;
            *number = -distance * CENTRE.at(0.180_625 - distance * distance);
        }
        for (place, below) in &outside[..count] {
            numbers[*place] = outer(*below);
        }
    }
}

/// Returns the number for a probability that is more than [`NEAR`] below 1/2.
fn outer(below: f64) -> f64 {
    let far = f64::sqrt(-below.ln());
    match far <= 5.0 {
        true => -MIDDLE.at(far - 1.6),
        false => -TAIL.at(far - 5.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quantile(below: f64) -> f64 {
        let mut one = [below];
        replace_by_quantiles(&mut one);
        one[0]
    }

    proptest! {
        /// Each probability has its number in a batch of any size, to the last bit.
        #[test]
        fn a_batch_has_the_quantiles_of_its_probabilities(
            below in prop::collection::vec(prop_oneof![1e-17_f64..0.5, 1e-17_f64..1e-9, 0.0749_f64..0.0751], 0..700),
        ) {
            let wanted = below.iter().map(|below| match 0.5 - below <= NEAR {
                true => (below - 0.5) * CENTRE.at(0.180_625 - (0.5 - below) * (0.5 - below)),
                false => outer(*below),
            });
            let wanted: Vec<u64> = wanted.map(f64::to_bits).collect();
            let mut batch = below.clone();
            replace_by_quantiles(&mut batch);
            prop_assert!(batch.iter().map(|number| number.to_bits()).eq(wanted.iter().copied()));
            prop_assert!(below.iter().map(|below| quantile(*below).to_bits()).eq(wanted));
        }
    }

    /// The values are those of `NormalDist().inv_cdf` of Python's `statistics`.
    #[test]
    fn quantiles_are_those_of_another_program() {
        for (below, wanted) in [
            (0.4, -0.253_347_103_135_799_8),
            (0.25, -0.674_489_750_196_081_7),
            (0.1, -1.281_551_565_544_600_8),
            (0.0751, -1.438_825_392_752_539_8),
            (0.07, -1.475_791_028_179_170_2),
            (0.025, -1.959_963_984_540_053_8),
            (0.001, -3.090_232_306_167_813),
            (1e-09, -5.997_807_015_007_686_5),
            (1e-11, -6.706_023_155_495_136),
            (1.4e-11, -6.656_723_091_518_184),
            (5.551_115_123_125_783e-17, -8.292_361_075_813_595),
        ] {
            let found = quantile(below);
            assert!((found - wanted).abs() <= 1e-14 * wanted.abs(), "{found} for {wanted}");
        }
    }
}
