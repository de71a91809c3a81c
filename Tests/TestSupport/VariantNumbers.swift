package import HLSKitSelection

// Tests number the variants that they create (`AssetVariant.init(index:…)`), so that tables of rules can refer to them.

extension AssetVariant.ID {
    package init(number: Int) { self.init(rawValue: "\(number)") }

    /// The number of the variant, or -1 if it comes from a playlist and has a name.
    package var number: Int { Int(rawValue) ?? -1 }
}

extension SelectionDecision {
    package init(number: Int, maximumForwardBuffer: Duration? = nil, explanation: String = "") {
        self.init(
            variantID: AssetVariant.ID(number: number), maximumForwardBuffer: maximumForwardBuffer,
            explanation: explanation)
    }

    package var number: Int { variantID.number }
}
