package import HLSKitSelection

// Variants that tests make by hand are named by their position (`AssetVariant.init(index:…)`): tables of rules tell them by it.

extension AssetVariant.ID {
    package init(number: Int) { self.init(rawValue: "\(number)") }

    /// -1 for the name of a variant of a playlist.
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
