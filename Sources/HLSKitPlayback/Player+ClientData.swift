public import HLSKitEngine

extension Player {
    /// Sends an app-defined event to the CMCD event targets (``ClientData/eventTargets``).
    ///
    /// The call has no effect if there are no targets. The player reports changes of ``isMuted`` by itself.
    public func report(_ notice: ClientDataNotice) { core.control(.report(notice)) }
}
