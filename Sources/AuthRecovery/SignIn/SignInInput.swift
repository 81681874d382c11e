/// What a step of a sign-in is taken with.
@nonexhaustive public enum SignInInput: Sendable, Hashable {
    /// Begin.
    case begin
    /// The person's answer to the question; while something is answered elsewhere, the wish for another factor or another
    /// message.
    case answer(Challenge.Answer)
    /// The factor that was chosen, by key, name and id; nil, or one that was not offered, leaves it to the preference of the
    /// sign-in.
    case choose(Factor?)
    /// The time has come to ask whether what is answered elsewhere was answered, or a question that may be
    /// (``Challenge/poll``). Before its time nothing is sent.
    case poll
    /// Read at the server where the sign-in stands, since nobody knows what became of the last step.
    case resync
}
